import type { Meta } from './meta.ts'

/** A column of JSON accepts objects; every other value is wrapped in one. */
const wrapped = '$payload'
const isPlain = (payload: unknown): payload is object =>
  typeof payload === 'object' && payload !== null && !Array.isArray(payload) && !Object.hasOwn(payload, wrapped)
/** pg-boss has no other place for data that goes with a job into its retries and its dead letter queue. */
const carried = '$carrier'
export const wrap = (payload: unknown, meta: Readonly<Meta> | undefined): object => {
  if (meta !== undefined) return { [wrapped]: payload, [carried]: meta }
  return isPlain(payload) ? payload : { [wrapped]: payload }
}
/** The payload in the data of a job, and what was published with it; the latter is not checked. */
export function unwrap(data: object | null): { readonly payload: unknown; readonly meta: unknown } {
  if (!Object.hasOwn(data ?? {}, wrapped)) return { payload: data, meta: undefined }
  const { [wrapped]: payload, [carried]: meta } = data as Record<string, unknown>
  return { payload, meta }
}
