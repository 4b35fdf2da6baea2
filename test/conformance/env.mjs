import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { createEnvSchema, Server } from 'framework'

// Files and the environment on whichever runtime runs this. Prints what it saw as JSON.
const folder = mkdtempSync(join(tmpdir(), 'framework-env-'))
process.chdir(folder)
writeFileSync('.env', '\uFEFFA=1\r\nB="b # b"\r\nC=file\r\n')
writeFileSync('.env.staging', '{"A":2,"db":{"hosts":["a"],"port":"5"}}')
writeFileSync('.env.staging.local', 'LIST=1,2\nC=local\n')
writeFileSync('bad.json', '{"A":"hunter2"')
process.env.NODE_ENV = 'staging'
process.env.C = 'real'

/** @type {import('framework').EnvSchema} */
let builders
const env = createEnvSchema((schema) => {
  builders = schema
  return {
    A: schema.number(),
    B: schema.string(),
    C: schema.enum(['real', 'local']),
    db: schema.object({ hosts: schema.array(schema.string()), port: schema.number() }),
    LIST: schema.array(schema.number()),
    NONE: schema.boolean({ optional: true }),
  }
})
/** @type {string[]} */
let problems = []
try {
  createEnvSchema((schema) => ({ A: schema.boolean(), C: schema.number() }), { file: 'bad.json' })
} catch (error) {
  problems = /** @type {{ problems: string[] }} */ (error).problems
}
const server = new Server({ plugins: { env: { schema: () => ({ GONE: builders.string() }) } } })
const boot = await server.ready().then(
  () => 'booted',
  (error) => error.cause.problems,
)
process.chdir('/')
rmSync(folder, { recursive: true })

console.log(
  JSON.stringify({
    values: ['A', 'B', 'C', 'db', 'LIST', 'NONE', 'toString'].map((name) => env.get(name) ?? null),
    problems,
    boot,
    process: ['A', 'B', 'C', 'db', 'LIST'].map((name) => process.env[name]),
  }),
)
