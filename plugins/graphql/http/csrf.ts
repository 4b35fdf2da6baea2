import type { RawRequest } from '../../../kernel/index.ts'
import { mediaTypeOf } from '../../shared/http/media-type.ts'

const headers = ['apollo-require-preflight', 'x-apollo-operation-name', 'graphql-require-preflight']
const simpleTypes = new Set(['application/x-www-form-urlencoded', 'multipart/form-data', 'text/plain'])

/**
 * Whether a browser would send a preflight before this request if a page of another origin made it: the request has one of the headers
 * that require a preflight, or a content type that no form can have (Fetch Standard, CORS-safelisted request-header).
 */
export function isPreflighted(raw: RawRequest): boolean {
  const contentType = raw.header('content-type')
  if (contentType === 'application/json') return true
  if (headers.some((name) => (raw.header(name) ?? '') !== '')) return true
  const type = mediaTypeOf(contentType)
  return type !== '' && !simpleTypes.has(type)
}
