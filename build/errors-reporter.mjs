// A reporter of vitest for `npm test`: how many errors belong to no test, which its report in JSON leaves out.
import { writeFileSync } from 'node:fs'

export default class ErrorsReporter {
  onTestRunEnd(_files, errors) {
    writeFileSync(process.env.VITEST_ERRORS_FILE, String(errors.length))
  }
}
