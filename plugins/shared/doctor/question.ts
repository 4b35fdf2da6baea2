import { within } from '../../../kernel/index.ts'
import { PeerMissingError } from '../environment/optional-package.ts'

/** Milliseconds to wait, fewer than the doctor waits for a check: the doctor could not name the machine. */
const patience = 4_000

/** Waits for the response of another machine; if it does not come, the error names the machine. */
export async function responseOf<Response>(where: string, asked: Promise<Response>): Promise<Response> {
  try {
    return await within(asked, patience, () => {
      throw new Error(`no response within ${patience / 1000} s`)
    })
  } catch (error) {
    const { code, message = String(error) } = Object(error) as { code?: unknown; message?: string }
    if (code === PeerMissingError.code) throw error
    throw new Error(`${where}: ${message || code}`, { cause: error })
  }
}
