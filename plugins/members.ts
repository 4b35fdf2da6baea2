/** Every member that a first-party plugin adds to requests and responses, with the key of the plugin. */
export const members = {
  request: {
    cookies: 'cookie',
    signedCookies: 'cookie',
    cookie: 'cookie',
    session: 'session',
    files: 'upload',
    file: 'upload',
    context: 'requestContext',
    database: 'database',
  },
  response: { cookie: 'cookie', clearCookie: 'cookie' },
} as const
