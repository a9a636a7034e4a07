import { askPerson } from './ask-person/ask-person.ts'
import { delegate } from './delegate/delegate.ts'
import { deleteFile } from './delete-file/delete-file.ts'
import { editFile } from './edit-file/edit-file.ts'
import { forget } from './forget/forget.ts'
import { keepState } from './keep-state/keep-state.ts'
import { listFiles } from './list-files/list-files.ts'
import { moveFile } from './move-file/move-file.ts'
import { nothingNew } from './nothing-new/nothing-new.ts'
import { readFile } from './read-file/read-file.ts'
import { returnResult } from './return-result/return-result.ts'
import { recall } from './recall/recall.ts'
import { remember } from './remember/remember.ts'
import { searchFiles } from './search-files/search-files.ts'
import type { Tool } from './tool.ts'
import { writeFile } from './write-file/write-file.ts'

/** Every tool there is: one line each. The order is the one models see; a new tool goes to the end, for their caches. */
export const ALL_TOOLS: readonly Tool[] = [
  listFiles, // what is there
  readFile, // what is in it
  searchFiles, // where something is
  askPerson, // what only the person knows
  delegate, // what another agent can do
  returnResult, // what comes out
  writeFile, // a whole file
  editFile, // a part of one
  moveFile,
  deleteFile,
  remember, // for later jobs
  recall,
  forget,
  keepState, // from one run of a schedule to the next
  nothingNew,
]
