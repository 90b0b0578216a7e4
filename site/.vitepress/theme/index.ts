// The default theme with the bar of the whole product: links to the parts of the server that are outside this site.
import DefaultTheme from 'vitepress/theme'
import { h } from 'vue'

const LINKS = [
  { text: 'Chat', href: '/' },
  { text: 'Guide', href: '/docs/guide/' },
  { text: 'API reference', href: '/docs' },
]

/** `target` keeps the site's router from taking the click. */
const links = () => LINKS.map(({ text, href }) => h('a', { href, target: '_self', class: 'VPLink link VPNavBarMenuLink' }, text))

export default {
  extends: DefaultTheme,
  Layout: () => h(DefaultTheme.Layout, null, { 'nav-bar-content-after': links, 'nav-screen-content-after': links }),
}
