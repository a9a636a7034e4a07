import { expect, it } from 'vitest'
import { deviceNameOf } from './device-name.ts'

it.each([
  ['Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/143.0.0.0 Safari/537.36 Edg/143.0.0.0', 'Edge', 'Windows'],
  ['Mozilla/5.0 (Linux; Android 15; Pixel 9) Chrome/143.0.0.0 Mobile Safari/537.36', 'Chrome', 'Android'],
  ['Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) CriOS/143.0 Safari/604.1', 'Chrome', 'iPhone'],
  ['Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) Version/18.0 Safari/605.1.15', 'Safari', 'macOS'],
  ['', null, null],
])('reads browser and system from %s', (userAgent, browser, system) => expect(deviceNameOf(userAgent)).toEqual({ browser, system }))
