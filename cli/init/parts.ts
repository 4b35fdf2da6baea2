import { databases } from '../scaffold/databases.ts'

const database = { folder: 'src', module: 'database' } as const

/** The optional parts, by the names of their flags: each is a working example with its test. */
export const parts = {
  mqtt: { about: 'messages of an MQTT broker', folder: 'src/mqtt', module: 'temperatures', packages: ['mqtt'] },
  cron: { about: 'scheduled jobs', folder: 'src/crons', module: 'heartbeat', packages: ['node-schedule'] },
  graphql: {
    about: 'GraphQL at /graphql',
    folder: 'src/graphql',
    module: 'schema',
    packages: ['graphql', '@graphql-tools/schema'],
  },
  sqlite: { about: 'a database in a file', ...database, packages: databases.sqlite.packages },
  postgres: { about: 'a database of Postgres', ...database, packages: databases.postgres.packages },
  mysql: { about: 'a database of MySQL', ...database, packages: databases.mysql.packages },
} as const
export type Part = keyof typeof parts
export const partNames = Object.keys(parts) as Part[]

/** The files next to the code, by the names of their flags. */
export const extras = {
  container: { about: 'a Dockerfile and a compose.yaml', files: ['Dockerfile', '.dockerignore', 'compose.yaml'] },
  agents: { about: 'an AGENTS.md, for assistants', files: ['AGENTS.md'] },
  editor: { about: 'settings of editors', files: ['.editorconfig', '.vscode/settings.json', '.vscode/launch.json'] },
} as const
export type Extra = keyof typeof extras
export const extraNames = Object.keys(extras) as Extra[]
