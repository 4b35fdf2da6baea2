import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runTsc } from '../support/typescript.ts'

// The cost for an application: the declarations of the build with the types of Node.js, TypeBox and Zod, and what is
// generated here. Not the sources: those see the types of every engine a plugin can use, which the build hides.
// Measured: 6 000 without routes and plugins, 155 000 with them.
const maxInstantiations = 200_000

const routes = Array.from({ length: 300 }, (_, i) => {
  const schema = `{ type: 'object', properties: { a${i}: { type: 'string' }, n: { type: 'integer' }, list: { type: 'array', items: { type: 'object', properties: { x: { type: 'number' } } } } }, required: ['a${i}'] }`
  const options = [
    `{ body: ${schema}, query: ${schema}, responses: { 200: ${schema} } }`,
    `{ body: Type.Object({ a${i}: Type.String(), n: Type.Optional(Type.Integer()) }) }`,
    `{ body: z.object({ a${i}: z.string(), n: z.int().optional() }), responses: { 404: z.object({ code: z.string() }) } }`,
  ][i % 3]
  const answer = i % 3 === 0 ? `res.ok({ a${i}: req.body.a${i}, n: 1 })` : `req.body.a${i}.trim() + req.params.id`
  return `router.post('/r${i}/:id', ${options}, (req, res) => ${answer})`
})
const plugins = Array.from(
  { length: 40 },
  (_, i) =>
    `const p${i} = definePlugin({ name: 'p${i}', provide: (o: { keep: number }) => ({ s${i}: o.keep }), setup(ctx) { ctx.get('/p${i}/:x', (req) => req.params.x) } })`,
)
const source = [
  `import { definePlugin, router, Server } from 'framework'`,
  `import { Type } from 'typebox'`,
  `import { z } from 'zod'`,
  ...routes,
  ...plugins,
  `const server = new Server({ plugins: [${plugins.map((_, i) => `p${i}({ keep: ${i} })`).join(', ')}] })`,
  `export const last: number = server.services.s39`,
].join('\n')

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(import.meta.dirname, 'budget-'))
  writeFileSync(join(folder, 'generated.ts'), source)
  const paths = { framework: ['../../../dist/index.d.ts'] }
  const project = { extends: '../../../tsconfig.json', compilerOptions: { paths }, include: ['*.ts'] }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(project))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('300 routes and 40 plugins stay within the budget of the type checker', () => {
  const { ok, output } = runTsc(['-p', folder, '--extendedDiagnostics'])
  expect(ok, output).toBe(true)
  const instantiations = Number(/Instantiations:\s+(\d+)/.exec(output)?.[1])
  expect(instantiations).toBeGreaterThan(10_000)
  expect(instantiations).toBeLessThan(maxInstantiations)
})
