export type SplitText = { thinking: string; text: string }

const OPENINGS = ['<think>', '<thinking>'] as const
const NOTHING: SplitText = { thinking: '', text: '' }

/**
 * Tells thinking from text in answers of models whose server leaves both in one text: what stands between `<think>` and
 * `</think>` at the beginning of an answer is thinking, wherever the pieces of the stream are cut. Thinking that is not
 * closed goes on to the end. Anywhere else the tags are text like any other.
 */
export class ThinkTags {
  #state: 'start' | 'thinking' | 'gap' | 'text' = 'start'
  #closing = ''
  /** What may be the beginning of a tag. */
  #held = ''

  take(piece: string): SplitText {
    switch (this.#state) {
      case 'text':
        return { thinking: '', text: piece }
      case 'gap':
        return this.#afterThinking(piece)
      case 'thinking':
        return this.#inThinking(piece)
      case 'start':
        return this.#atStart(piece)
    }
  }

  end(): SplitText {
    const held = this.#held
    this.#held = ''
    return this.#state === 'thinking' ? { thinking: held, text: '' } : { thinking: '', text: held }
  }

  #atStart(piece: string): SplitText {
    this.#held += piece
    const begun = this.#held.trimStart()
    const opening = OPENINGS.find((tag) => begun.startsWith(tag))
    if (opening !== undefined) {
      this.#state = 'thinking'
      this.#closing = `</${opening.slice(1)}`
      this.#held = ''
      return this.#inThinking(begun.slice(opening.length))
    }
    if (begun !== '' && !OPENINGS.some((tag) => tag.startsWith(begun))) {
      this.#state = 'text'
      return this.end()
    }
    return NOTHING
  }

  #inThinking(piece: string): SplitText {
    const all = this.#held + piece
    const end = all.indexOf(this.#closing)
    if (end !== -1) {
      this.#state = 'gap'
      this.#held = ''
      const { text } = this.#afterThinking(all.slice(end + this.#closing.length))
      return { thinking: all.slice(0, end), text }
    }
    const kept = lengthOfBegunTag(all, this.#closing)
    this.#held = all.slice(all.length - kept)
    return { thinking: all.slice(0, all.length - kept), text: '' }
  }

  /** The empty lines between the thinking and the answer belong to neither. */
  #afterThinking(piece: string): SplitText {
    const text = piece.trimStart()
    if (text !== '') this.#state = 'text'
    return { thinking: '', text }
  }
}

/** How many of the last characters are the beginning of the tag. */
function lengthOfBegunTag(text: string, tag: string): number {
  for (let length = Math.min(tag.length - 1, text.length); length > 0; length--) if (tag.startsWith(text.slice(-length))) return length
  return 0
}
