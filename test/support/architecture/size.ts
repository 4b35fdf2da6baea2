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
  const core = Object.values(others).reduce((sum, lines) => sum + lines, 0)
  const imported = edgesOf(project).filter((edge) => isIn(edge.from, 'kernel') && edge.package !== undefined)
  return { folders, runtimes, core, packages: [...new Set(imported.map((edge) => edge.package!))].sort() }
}

// `npm run size`
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { folders, runtimes, core, packages } = kernelSize(
    readProject(fileURLToPath(new URL('../../../', import.meta.url))),
  )
  for (const [folder, lines] of Object.entries(folders))
    console.log(`${folder.padEnd(10)} ${String(lines).padStart(5)}`)
  console.log(`core ${core}, runtimes ${runtimes}, packages: ${packages.join(', ')}`)
}
