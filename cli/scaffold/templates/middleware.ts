import { packageName } from '../../package.ts'
import type { Names } from '../names.ts'
import { importPath, inFolder, type Place } from '../place.ts'
import type { Scaffold } from '../scaffold.ts'
import { identifier, imports } from '../source.ts'

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
    files: [
      { path: file, text: source({ name, member, extension: `${pascal}Extension`, header: `x-${kebab}` }) },
      {
        path: inFolder(place, `${kebab}.test.ts`),
        text: test({ module: place.testModule, kebab, name, member, header: `x-${kebab}` }),
      },
    ],
    next: [
      `For the routes of a group, whose handlers then have req.${member}:`,
      `  import { ${name} } from '${importPath(place, file)}'`,
      `  router.group('/path', [${name}], (routes) => { … })`,
      `For one route: router.get('/path', { middlewares: [${name}] }, handler). For all: server.use(${name}).`,
    ],
  }
}

interface Parts {
  readonly name: string
  readonly member: string
  readonly header: string
}

const source = ({
  name,
  member,
  extension,
  header,
}: Parts & { readonly extension: string }) => `import { defineMiddleware, HttpError } from '${packageName}'

/** The addition to the requests of later handlers. */
export interface ${extension} {
  ${member}: string
}

/** Sets \`req.${member}\` from the header ${header}. Without the header, the response is 400, in the server's format. */
export const ${name} = defineMiddleware<${extension}>(function ${name}(req, _res, next) {
  const value = req.headers['${header}']?.trim()
  if (!value) throw new HttpError(400, { code: 'HeaderMissing', message: 'The header ${header} is missing' })
  req.${member} = value
  return next()
})
`

const test = ({
  module,
  kebab,
  name,
  member,
  header,
}: Parts & { readonly module: string; readonly kebab: string }) => `${imports(
  [module, '{ test }'],
  [packageName, '{ RouteCollection, Server }'],
  [`./${kebab}.ts`, `{ ${name} }`],
)}

function makeServer() {
  const routes = new RouteCollection()
  routes.get('/', { middlewares: [${name}] }, (req) => ({ value: req.${member} }))
  return new Server({ router: routes })
}

test('${name}: the handler has what the header says', async () => {
  const server = makeServer()
  const res = await server.inject.get('/', { headers: { '${header}': 'some value' } })
  res.assertStatus(200).assertBodyDeepEqual({ value: 'some value' })
  await server.close()
})

test('${name}: without the header the handler does not run', async () => {
  const server = makeServer()
  const res = await server.inject.get('/')
  res.assertStatus(400).assertBodySubset({ code: 'HeaderMissing' })
  await server.close()
})
`
