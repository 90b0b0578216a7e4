// The default theme with the bar of the whole product: links to the parts of the server that are outside this site.
import DefaultTheme, { VPHomeFeatures, VPHomeHero } from 'vitepress/theme'
import { h, type App } from 'vue'

const LINKS = [
  { text: 'Chat', href: '/' },
  { text: 'Guide', href: '/docs/guide/' },
  { text: 'API reference', href: '/docs' },
]

/** `target` keeps the site's router from taking the click. */
const links = () => LINKS.map(({ text, href }) => h('a', { href, target: '_self', class: 'VPLink link product-link' }, text))

const notFound = () =>
  h('main', { class: 'NotFound' }, [
    h('h1', 'This page does not exist'),
    h('a', { href: '/docs/guide/' }, 'Go to the first page of the guide'),
  ])

/** The default theme's first page has no landmark. */
const landing = { render: () => h('main', { class: 'VPHome' }, [h(VPHomeHero), h(VPHomeFeatures)]) }

export default {
  extends: DefaultTheme,
  enhanceApp: ({ app }: { readonly app: App }): void => void app.component('landing', landing),
  Layout: () => h(DefaultTheme.Layout, null, { 'nav-bar-content-after': links, 'nav-screen-content-after': links, 'not-found': notFound }),
}
