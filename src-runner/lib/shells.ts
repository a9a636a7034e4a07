const SHELLS = /^(?:sh|ash|bash|rbash|dash|fish|ksh|mksh|oksh|zsh|yash|csh|tcsh|cmd|powershell|pwsh)[\d.]*(?:\.exe)?$/

/** Whether this word, with or without a path, names a shell: a program that reads a line of commands. */
export function isShell(word: string): boolean {
  return SHELLS.test(word.split(/[\\/]/).at(-1)!.toLowerCase())
}
