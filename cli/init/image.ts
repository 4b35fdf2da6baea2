import type { PackageManager } from '../project/project.ts'
import type { Values } from '../scaffold/template.ts'
import type { InitSettings } from './settings.ts'

/** The Dockerfile's holes for a package manager. */
interface Image {
  readonly image?: string
  /** Lock files, as a pattern where they may be missing. */
  readonly locked: string
  readonly install: string
  /** The command that keeps only the packages that the application runs with. */
  readonly prune?: string
}

const images: Readonly<Record<PackageManager, Image>> = {
  npm: { locked: 'package*.json', install: 'npm ci', prune: 'npm prune --omit=dev' },
  pnpm: {
    locked: 'package.json pnpm-*.yaml',
    install: 'corepack enable && pnpm install --frozen-lockfile',
    prune: 'pnpm prune --prod',
  },
  yarn: {
    locked: 'package.json yarn.lock* .yarnrc.yml*',
    install: 'yarn install --frozen-lockfile',
    prune: 'yarn install --production --frozen-lockfile',
  },
  bun: {
    image: 'oven/bun:1',
    locked: 'package.json bun.lock* bunfig.toml',
    install: 'bun install --production --frozen-lockfile',
  },
  deno: { image: 'denoland/deno:2', locked: 'package.json deno.json deno.lock*', install: 'deno install' },
}

/** `vendor` says whether a copy of the framework is in the project, from which its packages are installed. */
export const imageValues = ({ packageManager, framework: { spec, link } }: InitSettings): Values => ({
  ...images[packageManager],
  vendor: /^(file:|\.\/)vendor\//.test(link ?? spec),
})
