import { fileURLToPath } from 'node:url'
import { edgesOf, isIn } from './edges.ts'
import { type Project, readProject } from './project.ts'

/** How large the kernel is, in lines of code without comments, and what it imports. */
export interface KernelSize {
  /** By folder; `kernel` for its own files. */
  readonly folders: { readonly [folder: string]: number }
  readonly runtimes: number
  /** All but the adapters to the runtimes. */
  readonly core: number
  readonly packages: readonly string[]
}

export function kernelSize(project: Project): KernelSize {
  const folders: Record<string, number> = {}
  for (const [path, { lines }] of project.modules) {
    const [top, folder, ...rest] = path.split('/')
    if (top !== 'kernel') continue
    const name = rest.length === 0 ? 'kernel' : folder!
    folders[name] = (folders[name] ?? 0) + lines
  }
  const { runtime: runtimes = 0, ...others } = folders
  const core = sum(Object.values(others))
  const imported = edgesOf(project).filter((edge) => isIn(edge.from, 'kernel') && edge.package !== undefined)
  return { folders, runtimes, core, packages: [...new Set(imported.map((edge) => edge.package!))].sort() }
}

/** The sizes that test/limits.json limits, by the names that they have there; each with its largest example. */
export function sizesOf(project: Project): Record<string, readonly [size: number, where: string]> {
  const modules = [...project.modules]
  const functions = modules.flatMap(([path, facts]) =>
    facts.functions.map(({ line, ...one }) => ({ at: `${path}:${line}`, ...one })),
  )
  const rooms: Record<string, number> = {}
  for (const [path, { lines }] of modules) {
    const folders = path.split('/').slice(0, -1)
    const room = folders.slice(0, isIn(path, 'plugins/shared') ? 3 : 2).join('/')
    if (folders.length > 1) rooms[room] = (rooms[room] ?? 0) + lines
  }
  const circles = (kinds: readonly string[]) =>
    circlesOf(edgesOf(project).flatMap(({ from, to, kind }) => (to && kinds.includes(kind) ? [[from, to]] : [])))
  const [values, all] = [circles(['value']), circles(['value', 'type', 'dynamic', 'augment'])]
  return {
    'lines of the product': [sum(modules.map(([, { lines }]) => lines)), 'kernel, plugins, cli, index.ts, server.ts'],
    "lines of the kernel's core": [kernelSize(project).core, 'kernel without kernel/runtime'],
    'lines of a room': largest(Object.entries(rooms)),
    'lines of a file': largest(modules.map(([path, { lines }]) => [path, lines])),
    'lines of a function': largest(functions.map(({ at, lines }) => [at, lines])),
    'parameters of a function': largest(functions.map(({ at, parameters }) => [at, parameters])),
    'circles of files that import values': [values.length, values.join('; ')],
    'circles of files that import values or types': [all.length, all.join('; ')],
  }
}

const sum = (all: readonly number[]) => all.reduce((one, other) => one + other, 0)

function largest(all: readonly (readonly [where: string, size: number])[]): readonly [number, string] {
  const [where, size] = all.reduce((one, other) => (other[1] > one[1] ? other : one))
  return [size, where]
}

/** Groups of files each of which imports itself through the others, by the first of each group (Tarjan). */
function circlesOf(edges: readonly (readonly [from: string, to: string])[]): string[] {
  const to = new Map<string, string[]>()
  for (const [from, one] of edges) to.set(from, [...(to.get(from) ?? []), one])
  const index = new Map<string, number>()
  const low = new Map<string, number>()
  const stack: string[] = []
  const circles: string[] = []
  const visit = (file: string) => {
    index.set(file, index.size)
    low.set(file, index.get(file)!)
    stack.push(file)
    for (const next of to.get(file) ?? []) {
      if (!index.has(next)) visit(next)
      if (stack.includes(next)) low.set(file, Math.min(low.get(file)!, low.get(next)!))
    }
    if (low.get(file) !== index.get(file)) return
    const group = stack.splice(stack.indexOf(file))
    if (group.length > 1) circles.push(`${group.length} files with ${group.sort()[0]}`)
  }
  for (const file of to.keys()) if (!index.has(file)) visit(file)
  return circles.sort()
}

// `npm run size`
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const project = readProject(fileURLToPath(new URL('../../../', import.meta.url)))
  const { folders, runtimes, packages } = kernelSize(project)
  console.log(`The kernel imports ${packages.join(' and ')}; its folders have, in lines of code:\n`)
  for (const [folder, lines] of Object.entries({ ...folders, runtime: runtimes }))
    console.log(`${folder.padEnd(10)} ${String(lines).padStart(5)}`)
  console.log('\nWhat test/limits.json limits, with the largest example:\n')
  for (const [name, [size, where]] of Object.entries(sizesOf(project)))
    console.log(`${String(size).padStart(6)} ${name}: ${where}`)
}
