import { refuse } from './library/refusal.ts'

/** One text of a JSON body. */
export function textField(body: unknown, name: string): string {
  if (body === undefined) refuse('invalid-input', 'send a JSON body, with content-type: application/json')
  const value = typeof body === 'object' && body !== null ? (body as Record<string, unknown>)[name] : undefined
  if (typeof value !== 'string' || value.trim() === '') refuse('invalid-input', `the body needs "${name}", a text`)
  return value.trim()
}
