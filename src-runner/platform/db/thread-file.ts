/** The file of a thread that stands beside the code of this folder, in the sources and in what is built of them. */
export function threadFile(name: string): URL {
  return new URL(`${name}.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url)
}
