import { ArgumentsError } from '../../kernel/index.ts'

/** @throws ArgumentsError for a code or a reason that a close frame cannot carry. */
export function checkClose(code: number, reason: string): void {
  const isCode =
    code === 1000 ||
    (code >= 1001 && code <= 1014 && ![1004, 1005, 1006].includes(code)) ||
    (code >= 3000 && code <= 4999)
  if (!Number.isInteger(code) || !isCode)
    throw ArgumentsError(
      'socket.close',
      'a code of RFC 6455 section 7.4: 1000 to 1014 without 1004 to 1006, or 3000 to 4999',
    )
  if (Buffer.byteLength(reason) > 123) throw ArgumentsError('socket.close', 'a reason of at most 123 bytes')
}
