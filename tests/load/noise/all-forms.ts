import { GATEWAY_FORMS } from './gateway-forms.ts'
import { hostileForms, type HostileForm } from './hostile-forms.ts'
import { WEBHOOK_FORMS } from './webhook-forms.ts'

/** Every form; `isWhole` as in `hostileForms`. */
export const allForms = (isWhole: boolean): readonly HostileForm[] => [...hostileForms(isWhole), ...WEBHOOK_FORMS, ...GATEWAY_FORMS]
