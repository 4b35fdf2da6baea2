import { readRegularFileSync } from '../plugins/shared/files/read-file.ts'
import { CommandFailure } from './failure.ts'

/** The text of a file; `undefined` if it does not exist. @throws CommandFailure, which names the file, if it cannot be read. */
export function textOf(file: string): string | undefined {
  try {
    return readRegularFileSync(file).toString('utf8')
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined
    throw new CommandFailure(`${file} cannot be read: ${(error as Error).message}`, { cause: error })
  }
}
