export type SplitText = { thinking: string; text: string }

const OPENINGS = ['<think>', '<thinking>'] as const
const NOTHING: SplitText = { thinking: '', text: '' }

/**
 * Separates thinking from text for servers that leave both in one text. What is between `<think>` and `</think>` at the
 * beginning of an answer is thinking, wherever the stream is cut; without an end tag, all of it is. Elsewhere the tags are text.
 */
export class ThinkTags {
  #state: 'start' | 'thinking' | 'gap' | 'text' = 'start'
  #closing = ''
  /** May be the beginning of a tag. */
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

  /** Drops the empty lines between the thinking and the answer. */
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
