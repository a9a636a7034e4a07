import type { proto, WAMessage } from '@whiskeysockets/baileys'
import type { Clock } from '../../../lib/clock.ts'
import type { Library } from './library.ts'

/** How long the next picture may take. A phone sends each one when it is uploaded. */
const NEXT_PICTURE_MS = 10_000
/** Where nobody said how many there are, and where the service had them all already. */
const PERHAPS_NONE_MS = 2_000
/** As many as a phone puts into one album. */
const MAX_PICTURES = 100

type AlbumDeps<Piece> = {
  library: Library
  clock: Clock
  /** Hands messages over as one, and confirms them. */
  handOver(pieces: [Piece, ...Piece[]]): Promise<void>
  /** Runs it after what is being done now. */
  later(work: () => Promise<void>): void
}

type Held<Piece> = { writer: string; album: string; pieces: [Piece, ...Piece[]]; cancel(): void }

/**
 * Joins the pictures of an album, which come one after another. What waits for the rest is not confirmed, so the service repeats it
 * after a kill. Other chats do not wait.
 */
export function createAlbums<Piece extends { message: WAMessage; isOffline: boolean }>(deps: AlbumDeps<Piece>) {
  const { library, clock, handOver, later } = deps
  let held: Held<Piece> | null = null
  let announced: { writer: string; album: string; count: number } | null = null

  async function release(): Promise<void> {
    held?.cancel()
    const pieces = held?.pieces
    held = null
    if (pieces !== undefined) await handOver(pieces)
  }

  return {
    /** Resolves when the message is handed over, or waits for others. */
    async take(piece: Piece): Promise<void> {
      const { key, message } = piece.message
      if (isOtherVersion(library, message)) return handOver([piece])
      const writer = [key.remoteJid, key.participant, key.fromMe].join(' ')
      const album = albumOf(library, message)
      const isOfHeld = held !== null && held.writer === writer && held.album === album
      // The writer goes on, or somebody else begins an album: one at a time waits.
      if (held !== null && !isOfHeld && (held.writer === writer || album !== null)) await release()
      const { albumMessage: header } = library.normalizeMessageContent(message) ?? {}
      if (header) {
        const count = Number(header.expectedImageCount ?? 0) + Number(header.expectedVideoCount ?? 0)
        announced = { writer, album: key.id ?? '', count }
      }
      if (album === null) return handOver([piece])
      const count = announced?.writer === writer && announced.album === album ? announced.count : 0
      if (held === null) held = { writer, album, pieces: [piece], cancel: () => {} }
      else if (!held.pieces.some((one) => one.message.key.id === key.id)) held.pieces.push(piece)
      held.cancel()
      if (held.pieces.length >= (count > 0 ? Math.min(count, MAX_PICTURES) : MAX_PICTURES)) return release()
      held.cancel = clock.after(count > 0 && !piece.isOffline ? NEXT_PICTURE_MS : PERHAPS_NONE_MS, () => later(release))
    },
    /** Forgets what waits. */
    drop(): void {
      held?.cancel()
      held = null
    },
  }
}

/**
 * Whether it is an earlier picture or video once more: phones send standard quality first, then high quality, or the moving part of a
 * photo. https://github.com/mautrix/whatsapp/pull/818
 */
export function isOtherVersion({ proto: { MessageAssociation } }: Library, message: proto.IMessage | null | undefined): boolean {
  const { HD_IMAGE_DUAL_UPLOAD, HD_VIDEO_DUAL_UPLOAD, HEVC_VIDEO_DUAL_UPLOAD, MOTION_PHOTO } = MessageAssociation.AssociationType
  const type = associationOf(message)?.associationType ?? null
  return type !== null && [HD_IMAGE_DUAL_UPLOAD, HD_VIDEO_DUAL_UPLOAD, HEVC_VIDEO_DUAL_UPLOAD, MOTION_PHOTO].includes(type)
}

/** The id of the message that announced the album of this picture, or null. */
function albumOf({ proto: { MessageAssociation } }: Library, message: proto.IMessage | null | undefined): string | null {
  const association = associationOf(message)
  if (association?.associationType !== MessageAssociation.AssociationType.MEDIA_ALBUM) return null
  return association.parentMessageKey?.id ?? null
}

const DEEPEST = 5

/** It stands in the message, or in one that it encloses. */
function associationOf(message: proto.IMessage | null | undefined): proto.IMessageAssociation | null {
  let level: object | null | undefined = message
  for (let depth = 0; level && depth < DEEPEST; depth++) {
    const { messageContextInfo } = level as proto.IMessage
    if (messageContextInfo?.messageAssociation) return messageContextInfo.messageAssociation
    const parts = Object.values(level) as ({ message?: object | null } | null | undefined)[]
    level = parts.find((part) => typeof part === 'object' && part?.message)?.message
  }
  return null
}
