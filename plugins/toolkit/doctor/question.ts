import { within } from '../../../kernel/index.ts'
import { PeerMissingError } from '../peer.ts'

/** Milliseconds, less than the doctor waits for a check: it does not know the machine. */
const patience = 4_000

/** The answer of another machine; without one, the error names it. */
export async function answerOf<Answer>(where: string, asked: Promise<Answer>): Promise<Answer> {
  try {
    return await within(asked, patience, () => {
      throw new Error(`no answer within ${patience / 1000} s`)
    })
  } catch (error) {
    const { code, message = String(error) } = Object(error) as { code?: unknown; message?: string }
    if (code === PeerMissingError.code) throw error
    throw new Error(`${where}: ${message || code}`, { cause: error })
  }
}
