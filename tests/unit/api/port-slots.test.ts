import { expect, it } from 'vitest'
import { PortSlots } from '../../../services/http/port-proxy/port-slots.ts'

const CAPACITY = 8
const take = (slots: PortSlots, tenant: string, count: number): (() => void)[] =>
  Array.from({ length: count }, () => slots.take(tenant, CAPACITY))

it('bounds a tenant by its limit, and frees a place once', () => {
  const slots = new PortSlots(CAPACITY)
  const leave = slots.take('a', 1)
  expect(() => slots.take('a', 1)).toThrow('port_connections')
  leave()
  leave()
  slots.take('a', 1)
  expect(() => slots.take('a', 1)).toThrow('port_connections')
})

it('keeps places for other tenants from half of the capacity on', () => {
  const slots = new PortSlots(CAPACITY)
  take(slots, 'a', CAPACITY / 2)
  expect(() => slots.take('a', CAPACITY)).toThrow('its share')
  take(slots, 'b', CAPACITY / 4)
  expect(() => slots.take('b', CAPACITY)).toThrow('its share')
  take(slots, 'c', CAPACITY / 4)
  expect(() => slots.take('d', CAPACITY)).toThrow('its share')
})
