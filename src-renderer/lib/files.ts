/** The content of a file as Base64. */
export function readBase64(file: Blob): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const reader = new FileReader()
  // `data:<type>;base64,<content>`
  reader.addEventListener('load', () => resolve((reader.result as string).replace(/^[^,]*,/, '')))
  reader.addEventListener('error', () => reject(reader.error ?? new Error('The file cannot be read.')))
  reader.readAsDataURL(file)
  return promise
}

/** Saves a file as the browser or the app does: in the folder for downloads, or where the person says. */
export function download(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // The download has read it by then.
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}

export function blobOf(base64: string, type: string): Blob {
  return new Blob([Uint8Array.from(atob(base64), (sign) => sign.charCodeAt(0))], { type })
}
