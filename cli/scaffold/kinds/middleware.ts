import type { Names } from '../names.ts'
import { importPath, inFolder, type Place } from '../place.ts'
import type { Scaffold } from '../scaffold.ts'
import { identifier, moduleAndTest } from '../source.ts'

/** Existing members of requests, from the kernel and from plugins, which a middleware must not replace. */
const members = new Set(
  `abort body context cookie cookies file files headers id ip log method params path protocol query raw rawHeaders route
  server session signal signedCookies url validated`.split(/\s+/),
)

/** A middleware that adds a member to the request, and refuses requests without it. */
export function middleware(place: Place, { kebab, camel, pascal }: Names): Scaffold {
  const file = inFolder(place, `${kebab}.ts`)
  const name = identifier(camel, 'Middleware')
  const member = members.has(camel) ? `${camel}Value` : camel
  return {
    files: moduleAndTest(place, kebab, 'middleware', {
      kebab,
      name,
      member,
      extension: `${pascal}Extension`,
      header: `x-${kebab}`,
    }),
    next: [
      `For the routes of a group, whose handlers then have req.${member}:`,
      `  import { ${name} } from '${importPath(place, file)}'`,
      `  router.group('/path', [${name}], (routes) => { … })`,
      `For one route: router.get('/path', { middlewares: [${name}] }, handler). For all: server.use(${name}).`,
    ],
  }
}
