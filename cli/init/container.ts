import { type PackageManager, runtimeOf } from '../project/project.ts'
import type { ScaffoldFile } from '../scaffold/files.ts'
import type { InitSettings } from './settings.ts'

/** The files that build the project into an image and run it, with its services. */
export function containerFiles(settings: InitSettings): ScaffoldFile[] {
  const runtime = runtimeOf(settings.packageManager)
  return [
    { path: 'Dockerfile', text: runtime === 'node' ? built(settings) : fromSources(settings), existing: 'keep' },
    // Ignored are above all the secrets of this machine.
    {
      path: '.dockerignore',
      text: '.git\n.env\n.env.*\n!.env.example\nnode_modules\ndist\nstorage\n',
      existing: 'keep',
    },
    { path: 'compose.yaml', text: compose(settings), existing: 'keep' },
  ]
}

interface Commands {
  /** Lock files, as a pattern where they may be missing. */
  readonly locked: string
  readonly install: string
  /** The command that keeps only the packages that the application runs with. */
  readonly prune: string
}

const commands: Readonly<Record<'npm' | 'pnpm' | 'yarn', Commands>> = {
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
}

/** A copy of the framework in the project, from which its packages are installed. */
const vendor = ({ framework: { spec, link } }: InitSettings) =>
  /^(file:|\.\/)vendor\//.test(link ?? spec) ? 'COPY vendor ./vendor\n' : ''

/** The health check on one line: the form as a list does not need a shell, which would not pass on signals. */
const healthy = (program: string) =>
  `HEALTHCHECK --interval=10s --timeout=3s CMD ["${program}", ${program === 'deno' ? '"eval"' : '"-e"'}, "fetch('http://127.0.0.1:' + (process.env.PORT || 3000) + '/health/ready').then((res) => process.exit(res.ok ? 0 : 1), () => process.exit(1))"]`

/** Without them, COPY would fail in a project that has none. */
const emptyFolders = 'RUN mkdir -p public storage\n'

/** The folders that an application uses besides its code. */
const foldersFor = (user: string, stage: string) => `COPY --from=${stage} /app/public ./public
# The only folder that the application may write: a storage on disk.
COPY --chown=${user}:${user} --from=${stage} /app/storage ./storage
VOLUME /app/storage
`

function built(settings: InitSettings): string {
  const { locked, install, prune } = commands[settings.packageManager as 'npm']
  return `FROM node:24-slim AS build
WORKDIR /app
COPY ${locked} ./
${vendor(settings)}RUN ${install}
COPY . .
RUN ${settings.packageManager === 'npm' ? 'npm run' : settings.packageManager} build && ${prune}
${emptyFolders}
FROM node:24-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
${foldersFor('node', 'build')}USER node
EXPOSE 3000
${healthy('node')}
# Node.js itself, and not a script of the package manager, which would keep SIGTERM to itself.
CMD ["node", "--enable-source-maps", "dist/index.js"]
`
}

const images: Readonly<
  Partial<Record<PackageManager, { image: string; user: string; locked: string; install: string; run: string }>>
> = {
  bun: {
    image: 'oven/bun:1',
    user: 'bun',
    locked: 'package.json bun.lock* bunfig.toml',
    install: 'bun install --production --frozen-lockfile',
    run: '["bun", "src/index.ts"]',
  },
  deno: {
    image: 'denoland/deno:2',
    user: 'deno',
    locked: 'package.json deno.json deno.lock*',
    install: 'deno install',
    run: '["deno", "run", "-A", "src/index.ts"]',
  },
}

function fromSources(settings: InitSettings): string {
  const { image, user, locked, install, run } = images[settings.packageManager]!
  return `FROM ${image} AS files
WORKDIR /app
COPY . .
${emptyFolders}
FROM ${image}
ENV NODE_ENV=production
WORKDIR /app
COPY ${locked} ./
${vendor(settings)}RUN ${install}
COPY src ./src
${foldersFor(user, 'files')}USER ${user}
EXPOSE 3000
${healthy(settings.packageManager)}
CMD ${run}
`
}

const compose = ({ parts }: InitSettings) => `services:
  app:
    build: .
    init: true
    ports: ['3000:3000']
    # The variables of this machine; those below win.
    env_file: [{ path: .env, required: false }]
    volumes: ['storage:/app/storage']
    environment:
      NODE_ENV: production
      PORT: '3000'
${
  parts.has('mqtt')
    ? `      MQTT_URL: mqtt://mosquitto:1883
    depends_on: [mosquitto]

  mosquitto:
    image: eclipse-mosquitto:2
    command: mosquitto -c /mosquitto-no-auth.conf
`
    : ''
}
volumes:
  storage:
`
