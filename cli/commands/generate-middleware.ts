import { ownCommand } from '../run/own-command.ts'
import { namesOf } from '../scaffold/names.ts'
import { importPath, inFolder } from '../scaffold/place.ts'
import { generateFlags, scaffold } from '../scaffold/scaffold.ts'
import { identifier, moduleAndTest } from '../scaffold/source.ts'

export const generateMiddleware = ownCommand({
  details: `Writes src/middlewares/<name>.ts, which adds a typed member to the request for the handlers after it, and a test.`,
  arguments: [{ name: 'name', description: 'The member that it adds: tenant, api-key', required: true }],
  flags: generateFlags,
  run(input) {
    const { kebab, camel, pascal } = namesOf(input.arguments.name, 'middleware')
    const name = identifier(camel, 'Middleware')
    const member = members.has(camel) ? `${camel}Value` : camel
    const values = { kebab, name, member, extension: `${pascal}Extension`, header: `x-${kebab}` }
    scaffold(input, 'middlewares', (place) => ({
      files: moduleAndTest(place, kebab, 'middleware', values),
      next: [
        `For the routes of a group, whose handlers then have req.${member}:`,
        `  import { ${name} } from '${importPath(place, inFolder(place, `${kebab}.ts`))}'`,
        `  router.group('/path', [${name}], (routes) => { … })`,
        `For one route: router.get('/path', { middlewares: [${name}] }, handler). For all: server.use(${name}).`,
      ],
    }))
  },
})

/** Existing members of requests, from the kernel and from plugins, which a middleware must not replace. */
const members = new Set(
  `abort body context cookie cookies file files headers id ip log method params path protocol query raw rawHeaders route
  server session signal signedCookies url validated`.split(/\s+/),
)
