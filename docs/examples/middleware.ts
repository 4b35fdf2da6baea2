import { defineMiddleware, router, Server } from 'framework'

/** Declares its addition to the request, so that later handlers see it. */
const visitor = defineMiddleware<{ visitor: { name: string } }>(function visitor(req, res, next) {
  const { authorization } = req.headers
  if (authorization === undefined) return res.unauthorized({ message: 'who are you?' })
  req.visitor = { name: authorization }
  return next()
})

/** Also works on the way back: `next()` settles when all later steps have. */
const timed = defineMiddleware(async function timed(_req, res, next) {
  const start = performance.now()
  await next()
  res.header('server-timing', `app;dur=${(performance.now() - start).toFixed(1)}`)
})

const server = new Server()
server.use(timed)

router.group('/me', [visitor], (me) => {
  me.get('/', (req) => ({ name: req.visitor.name }))
})

await server.listen(() => console.log(`${server.url}/me`))
