import { readFileSync } from 'node:fs'
import { StartError } from '../settings/start-error.ts'

/** Arguments of Chromium and Node that expose keys and pages, or turn a protection off. */
const UNSAFE = new Set(
  (
    'inspect inspect-brk inspect-brk-node inspect-port inspect-publish-uid inspect-wait debug debug-brk debug-port ' +
    'remote-debugging-port remote-debugging-pipe remote-debugging-address remote-debugging-targets remote-debugging-io-pipes ' +
    'remote-allow-origins no-sandbox disable-setuid-sandbox disable-seccomp-filter-sandbox disable-namespace-sandbox ' +
    'disable-gpu-sandbox no-zygote single-process disable-web-security disable-site-isolation-trials ignore-certificate-errors ' +
    'allow-file-access-from-files js-flags load-extension renderer-cmd-prefix utility-cmd-prefix gpu-launcher ' +
    'browser-subprocess-path require'
  ).split(' '),
)

/** Throws a StartError if a packaged app is started with such an argument. It then has opened nothing, and asked no other instance. */
export function refuseUnsafeArguments(args: readonly string[]): void {
  for (const arg of args) {
    // Chromium trims an argument, and on Windows also takes `/name`.
    const name = /^(?:--?|\/)([a-z-]+)(?:=|$)/i.exec(arg.trim())?.[1]?.toLowerCase()
    if (name === undefined || !UNSAFE.has(name)) continue
    const why = name === 'no-sandbox' ? '. Deckhand does not run as root, and needs a system that lets Chromium use its sandbox' : ''
    throw new StartError(2, `an installed Deckhand does not take the argument --${name}${why}`)
  }
}

/** Test builds take them: Playwright drives an app through its debugger. `npm run package -- --test` makes one. */
export function isTestBuild(packageJson: string): boolean {
  return (JSON.parse(readFileSync(packageJson, 'utf8')) as { testBuild?: unknown }).testBuild === true
}
