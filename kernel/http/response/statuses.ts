/** The shorthands of the response, one row each: adding a row adds the method. */
export const statuses = {
  ok: 200,
  created: 201,
  accepted: 202,
  badRequest: 400,
  unauthorized: 401,
  forbidden: 403,
  notFound: 404,
  methodNotAllowed: 405,
  notAcceptable: 406,
  conflict: 409,
  gone: 410,
  payloadTooLarge: 413,
  unsupportedMediaType: 415,
  unprocessableEntity: 422,
  tooManyRequests: 429,
  internalServerError: 500,
  notImplemented: 501,
  badGateway: 502,
  serviceUnavailable: 503,
  gatewayTimeout: 504,
} as const

/** The statuses that have a method of their own on `res`, by the name of the method: from `ok`, 200, to `gatewayTimeout`, 504. */
export type Statuses = typeof statuses
/** The name of a shorthand: `notFound`. */
export type StatusName = keyof Statuses

/** The statuses that `res.redirect` accepts. */
export const redirects: readonly number[] = [301, 302, 303, 307, 308]
