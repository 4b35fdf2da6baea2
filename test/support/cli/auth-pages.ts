/** An application with the pages of `init-auth`, for a browser: `/link` is the link of the last email, and `/later` the time after it has ended. */
export const applicationOfPages = `import { memoryTransport, RouteCollection, Server } from 'framework'
import { testClock } from 'framework/testing'
import { addAuth } from './auth/auth.ts'
import { mailOptions } from './mailer.ts'

const clock = testClock()
const emails = memoryTransport()
const router = new RouteCollection()
const logins = addAuth(router, {
  hash: async (text) => \`cheap \${text}\`,
  verify: async (text, hash) => hash === \`cheap \${text}\`,
})
router.get('/link', { auth: false, rateLimit: false }, async (_req, res) => {
  await clock.advance('1 s')
  const text = String(emails.sent.at(-1)?.text)
  emails.clear()
  return res.text(/(?<=http:..localhost:3000)\\S+/.exec(text)?.[0] ?? '')
})
router.get('/later', { auth: false }, async () => {
  await clock.advance('31 min')
  return {}
})
const server = new Server({
  router,
  host: '127.0.0.1',
  port: 0,
  plugins: {
    helmet: true,
    csrf: true,
    urlencoded: true,
    rateLimit: { limit: 300 },
    auth: { schemes: { logins } },
    mailer: mailOptions(emails),
  },
})
const { port } = await server.listen()
console.log(\`http://127.0.0.1:\${port}\`)
`
