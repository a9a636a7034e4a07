// `npm run icons`: draws every icon file from the two drawings in resources/. Chromium does the rendering, since Electron
// is here anyway; the .ico and .icns containers simply hold PNG files.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { hasChromiumSandbox } from './chromium-sandbox.mjs'
import { begin, handOver, root, say } from './run.mjs'
import { setUp } from './setup.mjs'
import { electronProgram } from './setup-electron.mjs'
import { onVirtualDesktop } from './virtual-desktop.mjs'

const APP_SIZES = [16, 24, 32, 48, 64, 128, 256, 512, 1024]
const ICO_SIZES = [16, 24, 32, 48, 64, 128, 256]
const ICNS_TYPES = { icp4: 16, icp5: 32, ic07: 128, ic08: 256, ic09: 512, ic10: 1024, ic11: 32, ic12: 64, ic13: 256, ic14: 512 }

// macOS colours a template itself; panels of the other systems are mostly dark, hence the light drawing with a dark rim.
const TRAY = {
  'trayTemplate.png': [16, 'template'],
  'trayTemplate@2x.png': [32, 'template'],
  'tray.png': [24, 'light'],
  'tray@2x.png': [48, 'light'],
}
const ATTENTION = { 'trayAttention.png': [24, 'attention'], 'trayAttention@2x.png': [48, 'attention'] }

// Not awaited: Electron becomes ready only after its first module has come to its end.
void begin(async () => {
  if (process.versions.electron) return render()
  await setUp(['window', 'tests'])
  const sandbox = hasChromiumSandbox() ? [] : ['--no-sandbox']
  const [command, ...args] = onVirtualDesktop([electronProgram(), ...sandbox, join(root, 'build/icons.mjs')])
  handOver(command, args)
})

async function render() {
  const { app, BrowserWindow } = await import('electron')
  await app.whenReady()
  const page = new BrowserWindow({ show: false }).webContents
  await page.loadURL('data:text/html,<!doctype html>')
  const draw = (svg, size) =>
    page.executeJavaScript(`(${drawInPage.toString()})(${JSON.stringify(svg)}, ${size})`).then((base64) => Buffer.from(base64, 'base64'))

  const resources = join(root, 'resources')
  const icon = readFileSync(join(resources, 'icon.svg'), 'utf8')
  const pngs = new Map()
  mkdirSync(join(resources, 'icons'), { recursive: true })
  for (const size of APP_SIZES) {
    pngs.set(size, await draw(icon, size))
    writeFileSync(join(resources, `icons/${size}x${size}.png`), pngs.get(size))
  }
  writeFileSync(join(resources, 'icon.ico'), ico(ICO_SIZES.map((size) => [size, pngs.get(size)])))
  writeFileSync(join(resources, 'icon.icns'), icns(Object.entries(ICNS_TYPES).map(([type, size]) => [type, pngs.get(size)])))

  const tray = readFileSync(join(resources, 'tray.svg'), 'utf8')
  for (const [file, [size, style]] of Object.entries({ ...TRAY, ...ATTENTION }))
    writeFileSync(join(resources, file), await draw(styled(tray, style), size))
  say('icons are drawn')
  app.exit(0)
}

function styled(svg, style) {
  if (style === 'template') return svg
  const drawing = svg.match(/<g[\s\S]*<\/g>/)[0]
  const rim = drawing.replace('<g ', '<g fill="#0b3a46" stroke="#0b3a46" stroke-width="1.6" stroke-linejoin="round" ')
  const light = drawing.replace('<g ', '<g fill="#fff" ')
  const dot = style === 'attention' ? '<circle cx="13" cy="3" r="2.7" fill="#e8863a" stroke="#0b3a46" stroke-width="0.6"/>' : ''
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">${rim}${light}${dot}</svg>`
}

/** Runs inside the page. */
async function drawInPage(svg, size) {
  const image = new Image()
  image.width = image.height = size
  image.src = `data:image/svg+xml,${encodeURIComponent(svg)}`
  await image.decode()
  const canvas = document.createElement('canvas')
  canvas.width = canvas.height = size
  canvas.getContext('2d').drawImage(image, 0, 0, size, size)
  return canvas.toDataURL('image/png').split(',')[1]
}

/** https://learn.microsoft.com/windows/win32/menurc/newheader: a header, one entry per image, then the PNG files. */
function ico(images) {
  const header = Buffer.alloc(6 + 16 * images.length)
  header.writeUInt16LE(1, 2)
  header.writeUInt16LE(images.length, 4)
  let offset = header.length
  images.forEach(([size, png], index) => {
    const at = 6 + 16 * index
    header.writeUInt8(size % 256, at)
    header.writeUInt8(size % 256, at + 1)
    header.writeUInt16LE(1, at + 4)
    header.writeUInt16LE(32, at + 6)
    header.writeUInt32LE(png.length, at + 8)
    header.writeUInt32LE(offset, at + 12)
    offset += png.length
  })
  return Buffer.concat([header, ...images.map(([, png]) => png)])
}

/** A sequence of blocks: four letters that say which size, the length, the PNG file. */
function icns(images) {
  const block = (type, content) => {
    const head = Buffer.alloc(8)
    head.write(type, 'latin1')
    head.writeUInt32BE(content.length + 8, 4)
    return Buffer.concat([head, content])
  }
  return block('icns', Buffer.concat(images.map(([type, png]) => block(type, png))))
}
