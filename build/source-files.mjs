import { capture, root, Stop } from './run.mjs'

/** The files of the project, as git lists them. Throws Stop without a list: a check of no files would pass. */
export async function listSourceFiles(cwd = root) {
  const { code, output } = await capture('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd })
  const files = output.split('\n').filter((file) => file !== '')
  if (code !== 0)
    throw new Stop(`git cannot list the files of the project, so they cannot be checked: ${output.trim() || 'is it installed?'}`)
  if (files.length === 0) throw new Stop('git lists no files of the project, so nothing would be checked')
  return files
}
