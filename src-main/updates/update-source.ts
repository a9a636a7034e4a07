import type { UpdateChannel, UpdateOffer, UpdateProblem } from '../contract/updates.ts'

/** What the state machine needs of electron-updater. All but `install` reject with an UpdateError. */
export type UpdateSource = {
  /** The newest version of the channel; null: none is newer than this one. */
  check(channel: UpdateChannel): Promise<Omit<UpdateOffer, 'crashed'> | null>
  /** Downloads what the last check found, and checks its digest. `percent`: 0 to 100. */
  download(onProgress: (percent: number) => void): Promise<void>
  /**
   * Puts the downloaded version in place. Called when everything else has stopped; the app quits after it. Throws if it cannot.
   * Returns true if the updater of the system ends the app itself, as soon as it is ready.
   */
  install(options: { restart: boolean }): boolean
}

export class UpdateError extends Error {
  override readonly name = 'UpdateError'
  readonly code: UpdateProblem

  constructor(code: UpdateProblem, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
