import { refuse } from './library/refusal.ts'

/** One text of a JSON body. */
export function textField(body: unknown, name: string): string {
  const value = typeof body === 'object' && body !== null ? (body as Record<string, unknown>)[name] : undefined
  if (typeof value !== 'string' || value.trim() === '') refuse('invalid-input', `the body needs "${name}", a text`)
  return value.trim()
}
