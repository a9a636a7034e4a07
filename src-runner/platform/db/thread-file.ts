/** The file of a thread, beside this one in the sources and in the build. */
export function threadFile(name: string): URL {
  return new URL(`${name}.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url)
}
