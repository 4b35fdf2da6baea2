export { passwords } from './passwords.ts'
export { auth } from './plugin.ts'
export * from './public.ts'
export { type AuthScheme, userOf, type Verdict } from './scheme.ts'
export { type ApiKeyOptions, type ApiKeyRow, type ApiKeyScheme, apiKey } from './schemes/api-key.ts'
export { basic, bearer } from './schemes/bearer.ts'
export type { Jwk, JwkSet, JwtClaims } from './schemes/jwk.ts'
export { type JwtAlgorithm, type JwtOptions, jwt } from './schemes/jwt.ts'
export { type SessionScheme, session } from './schemes/session.ts'
export { type IssuedTicket, type TicketOptions, type TicketScheme, tickets } from './schemes/tickets.ts'
export { type IssuedTokens, type TokenOptions, type TokenScheme, tokens } from './schemes/tokens.ts'
export type { Auth } from './service.ts'
export {
  memoryRefreshTokens,
  type RefreshTokenRedis,
  type RefreshTokenStore,
  redisRefreshTokens,
} from './stores/refresh-tokens.ts'
export { memoryTickets, redisTickets, type TicketRedis, type TicketStore } from './stores/tickets.ts'
