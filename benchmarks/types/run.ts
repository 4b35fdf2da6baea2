import { spawnSync } from 'node:child_process'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { describeProcessor } from '../support/machine.ts'
import { saveResults } from '../support/results.ts'
import { root, type Stage, stageFolder } from '../support/stage.ts'
import { shuffled } from '../support/statistics.ts'
import { calledRoutes, fileNames, mistakes, type RouteSpec, routesOf, wrongRoute } from './application.ts'
import { type Compilation, type Compiler, compile, compilers } from './compiler.ts'
import { measureEditor, type Question, type Waits } from './editor.ts'
import type { Framework } from './framework.ts'
import { elysia } from './frameworks/elysia.ts'
import { fastify } from './frameworks/fastify.ts'
import { hono } from './frameworks/hono.ts'
import { ours } from './frameworks/ours.ts'
import { orpc, trpc } from './frameworks/rpc.ts'
import { type Measured, mistakesReport, report, type Verdict, versions } from './report.ts'
import { makeProject, type Project, providePeers } from './workspace.ts'

const usage = `node --import tsx benchmarks/types/run.ts [name…] [option…]
A name is a part of those in the tables: "Fastify", "Zod", "framework, JSON Schema". All without one.
  --out          writes the part on types of benchmarks/results.md
  --check        compiles everything once, and measures nothing
  --rounds <n>   how often everything is measured (3)
  --edits <n>    edits of an editor in each round (5)`

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    out: { type: 'boolean', default: false },
    check: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
    rounds: { type: 'string', default: '3' },
    edits: { type: 'string', default: '5' },
  },
})
if (values.help) {
  console.log(usage)
  process.exit(0)
}
const count = (name: 'rounds' | 'edits') => {
  const number = Number(values[name])
  if (!Number.isInteger(number) || number < 1) throw new Error(`--${name} takes a whole number from 1`)
  return number
}
const rounds = count('rounds')
const edits = count('edits')
const known = [...ours, ...fastify, ...hono, ...elysia, trpc, orpc]
for (const word of positionals) {
  if (!known.some(({ name }) => name.includes(word))) {
    throw new Error(`Nothing is called "${word}". There are: ${known.map(({ name }) => name).join('; ')}.`)
  }
}
const frameworks = known.filter(
  ({ name }) => positionals.length === 0 || positionals.some((word) => name.includes(word)),
)

type RoutesOf = (file: string) => readonly RouteSpec[]

function filesOf(framework: Framework, names: readonly string[], of: RoutesOf) {
  const files = names.map((name) => [`${name}.ts`, framework.routes(name, of(name))])
  return { ...framework.server(names), ...Object.fromEntries(files) }
}

function compileClean(compiler: Compiler, project: Project, name: string): Compilation {
  const compilation = compile(compiler, project.folder)
  const errors = [...compilation.errors].map(
    ([file, [first, ...more]]) => `${file}: ${first} (and ${more.length} more)`,
  )
  if (errors.length > 0)
    throw new Error(`${name} does not compile with TypeScript ${compiler.name}:\n${errors.join('\n')}`)
  return compilation
}

/** Finds out which mistakes the compiler reports, each in a file of its own. */
function judge(framework: Framework, stage: Stage): Verdict {
  const names = mistakes.map((mistake) => wrongRoute(mistake).file)
  const wrong = mistakes.map(wrongRoute)
  const files = filesOf(framework, names, (name) => wrong.filter(({ file }) => file === name))
  const project = makeProject(stage, files, ['server.ts'])
  const found = compilers.map((compiler) => compile(compiler, project.folder).errors)
  const verdicts = wrong.map(({ file, mistake }) => {
    if (framework.undeclared?.includes(mistake)) return [mistake, 'undeclared'] as const
    return [mistake, found.every((errors) => errors.has(`${file}.ts`)) ? 'error' : 'missed'] as const
  })
  return { name: framework.name, found: Object.fromEntries(verdicts) as Verdict['found'] }
}

/** A project to compile and complete: the server of a framework, or an application that uses its client. */
interface Subject {
  readonly name: string
  readonly project: Project
  /** The same project without routes: the cost of importing the framework. */
  readonly bare: Project | undefined
  readonly question: Question
}

function serverOf(framework: Framework, stage: Stage): Subject {
  const last = fileNames.at(-1)!
  return {
    name: framework.name,
    project: makeProject(stage, filesOf(framework, fileNames, routesOf), ['server.ts']),
    bare: makeProject(
      stage,
      filesOf(framework, fileNames, () => []),
      ['server.ts'],
    ),
    question: { file: `${last}.ts`, after: `${framework.body}.`, expected: 'title299' },
  }
}

function clientOf(framework: Framework, stage: Stage): Subject[] {
  const { client } = framework
  if (!client) return []
  const files = { ...filesOf(framework, fileNames, routesOf), 'client.ts': client.write(calledRoutes) }
  const project = makeProject(stage, files, ['client.ts'])
  if (client.generated) {
    const command = [join(stage.folder, 'dist/cli/index.js'), 'generate-sdk', '--entry', 'server.ts', '--out', 'sdk.ts']
    const { status, stderr } = spawnSync(process.execPath, command, { cwd: project.folder, encoding: 'utf8' })
    if (status !== 0) throw new Error(`generate-sdk failed:\n${stderr}`)
  }
  const question = { file: 'client.ts', after: `client.${fileNames.at(-1)}.`, expected: 'items299' }
  return [{ name: client.name, project, bare: undefined, question }]
}

async function measure(subjects: readonly Subject[]): Promise<Measured[]> {
  const measured = new Map(
    subjects.map((subject) => [
      subject,
      compilers.map((compiler) => ({
        compiler,
        bare: subject.bare && compileClean(compiler, subject.bare, subject.name),
        compilations: [] as Compilation[],
        waits: [] as Waits[],
      })),
    ]),
  )
  for (let round = 0; round < rounds; round++) {
    for (const subject of shuffled(subjects)) {
      for (const { compiler, compilations, waits } of measured.get(subject)!) {
        compilations.push(compileClean(compiler, subject.project, subject.name))
        waits.push(await measureEditor(compiler.name, subject.project, subject.question, edits))
      }
      console.error(`round ${round + 1} of ${rounds}: ${subject.name}`)
    }
  }
  return [...measured].map(([{ name }, by]) => ({ name, by }))
}

providePeers()
const stage = stageFolder(root, 'this checkout')
const servers = frameworks.map((framework) => serverOf(framework, stage))
const clients = frameworks.flatMap((framework) => clientOf(framework, stage))
if (values.check) {
  for (const { name, project } of [...servers, ...clients]) {
    for (const compiler of compilers) compileClean(compiler, project, name)
    console.log(`ok ${name}`)
  }
} else {
  const date = new Date().toISOString().slice(0, 10)
  const measuredClients = await measure(clients)
  const measuredServers = await measure(servers)
  const head = [
    date,
    describeProcessor(),
    ...versions(),
    `medians of ${rounds} rounds with ${edits} edits each`,
    // If this is above the number of cores, the times are those of a busy machine.
    `load average of the last 15 minutes: ${loadavg()[2]!.toFixed(1)}`,
  ]
  const parts = [
    `# Types\n\n${head.map((line) => `- ${line}`).join('\n')}\n`,
    report('servers', measuredServers),
    report('clients', measuredClients),
    mistakesReport(frameworks.map((framework) => judge(framework, stage))),
  ]
  console.log(parts.join('\n'))
  if (values.out) saveResults(parts.join('\n'))
}
