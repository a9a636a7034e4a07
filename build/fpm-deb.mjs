#!/usr/bin/env node
// Makes a .deb out of what electron-builder would hand to fpm (`fpm -s dir -t deb …`), with dpkg-deb alone. Used through
// CUSTOM_FPM_PATH where fpm, a Ruby program that electron-builder downloads, is not there.
import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** fpm's names for what dpkg-deb calls otherwise. */
const COMPRESSION = { gz: 'gzip', bzip2: 'gzip', zst: 'zstd', none: 'none' }

const { options, depends, recommends, contents } = readArguments(process.argv.slice(2))
if (options.t !== 'deb') {
  console.error(`only deb packages can be made here, not ${options.t}`)
  process.exit(1)
}
const tree = mkdtempSync(join(tmpdir(), 'deckhand-deb-'))
try {
  // dpkg takes the mode of the top folder over into the package.
  chmodSync(tree, 0o755)
  for (const { from, to } of contents) {
    mkdirSync(dirname(join(tree, to)), { recursive: true })
    cpSync(from, join(tree, to), { recursive: true, verbatimSymlinks: true, preserveTimestamps: true })
  }
  writeControl(join(tree, 'DEBIAN'))
  execFileSync(
    'dpkg-deb',
    ['--root-owner-group', `-Z${COMPRESSION[options['deb-compression']] ?? 'xz'}`, '--build', tree, options.package],
    {
      stdio: 'inherit',
    },
  )
} finally {
  rmSync(tree, { recursive: true, force: true })
}

/** Options with a value, `-d` and `--deb-recommends` any number of times, `--force`, and pairs of `source=destination`. */
function readArguments(args) {
  const options = {}
  const depends = []
  const recommends = []
  const contents = []
  for (let i = 0; i < args.length; i++) {
    const arg = args[i]
    if (arg === '--force') continue
    if (arg === '-d' || arg === '--depends') depends.push(args[++i])
    else if (arg === '--deb-recommends') recommends.push(args[++i])
    else if (arg.startsWith('-')) options[arg.replace(/^-+/, '')] = args[++i]
    else {
      const at = arg.lastIndexOf('=')
      contents.push({ from: arg.slice(0, at).replace(/\/+$/, ''), to: arg.slice(at + 1) })
    }
  }
  return { options, depends, recommends, contents }
}

/** https://www.debian.org/doc/debian-policy/ch-controlfields.html */
function writeControl(folder) {
  const kilobytes = execFileSync('du', ['-sk', '--apparent-size', tree], { encoding: 'utf8' }).split('\t')[0]
  const [synopsis = options.name, ...more] = (options.description ?? '')
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
  const fields = {
    Package: options.name,
    Version: options.version,
    Architecture: options.architecture,
    Maintainer: options.maintainer,
    'Installed-Size': kilobytes,
    Depends: depends.join(', '),
    Recommends: recommends.join(', '),
    Section: options.category,
    Priority: options['deb-priority'] ?? 'optional',
    Homepage: options.url,
    Description: [synopsis, ...more.map((line) => ` ${line}`)].join('\n'),
  }
  mkdirSync(folder)
  const lines = Object.entries(fields)
    .filter(([, value]) => value)
    .map(([name, value]) => `${name}: ${value}`)
  writeFileSync(join(folder, 'control'), `${lines.join('\n')}\n`)
  for (const [option, script] of [
    ['after-install', 'postinst'],
    ['after-remove', 'postrm'],
  ]) {
    if (!options[option]) continue
    copyFileSync(options[option], join(folder, script))
    chmodSync(join(folder, script), 0o755)
  }
}
