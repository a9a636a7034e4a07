/**
 * Node's HTTP module without its ESM exports. `import 'node:http'` reads all exports, and one of them (WebSocket) loads
 * the whole of undici: 30 ms of CPU at the start, for nothing.
 */
export const http = process.getBuiltinModule('node:http')
