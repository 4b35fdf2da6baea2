import type { Request } from 'framework'

export interface Member {
  readonly id: string
  readonly name: string
  readonly librarian: boolean
}

// A real service looks tokens up, and stores only their hashes.
const membersByToken = new Map<string, Member>([
  ['ada', { id: 'm1', name: 'Ada', librarian: true }],
  ['grace', { id: 'm2', name: 'Grace', librarian: false }],
])

/** Returns the caller, according to the token in the Authorization header. */
export function memberOf(req: Pick<Request, 'headers'>): Member | undefined {
  const [scheme, token] = (req.headers.authorization ?? '').split(' ')
  return scheme?.toLowerCase() === 'bearer' ? membersByToken.get(token ?? '') : undefined
}
