declare module 'write-file-atomic' {
  export default function writeFileAtomic(
    file: string,
    text: string | Uint8Array,
    options?: { mode?: number; fsync?: boolean; encoding?: BufferEncoding },
  ): Promise<void>
}
