/**
 * Node's HTTP modules without their ESM face. To import `node:http` is to read all of its exports, and one of them
 * (WebSocket) loads the whole of undici, which nobody here uses at the start: 30 ms of CPU, a fifth of the start.
 */
export const http = process.getBuiltinModule('node:http')
export const https = process.getBuiltinModule('node:https')
