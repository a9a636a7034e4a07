/**
 * `missing`: there is no Git. `outdated`: it cannot be kept from reading the person's settings. `slow`: it took too long.
 * `branch_exists`: with other commits. `branch_in_use`: it is checked out. `no_repository`,
 * `no_folder`: it is gone, or not what it was.
 */
export type GitTrouble = 'missing' | 'outdated' | 'slow' | 'branch_exists' | 'branch_in_use' | 'no_repository' | 'no_folder' | 'failed'

/** Git could not do what was asked. `message` is English, with Git's own words. */
export class GitFailed extends Error {
  override readonly name = 'GitFailed'
  readonly trouble: GitTrouble

  constructor(trouble: GitTrouble, message: string) {
    super(message)
    this.trouble = trouble
  }
}
