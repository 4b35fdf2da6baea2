/** The databases for which there are scaffolds. */
export const databases: Readonly<Record<DatabaseKind, Database>> = {
  sqlite: {
    packages: process.getBuiltinModule?.('node:sqlite') ? [] : ['node-sqlite3-wasm'],
    url: 'sqlite:database.sqlite',
    test: 'sqlite::memory:',
    ignored: ['/database.sqlite*'],
  },
  postgres: { packages: ['pg'], url: 'postgres://postgres@127.0.0.1:5432/postgres' },
  mysql: { packages: ['mysql2'], url: 'mysql://root@127.0.0.1:3306/app' },
}

interface Database {
  readonly packages: readonly string[]
  readonly url: string
  /** The address in tests, if it is another one. */
  readonly test?: string
  /** What git must not keep. */
  readonly ignored?: readonly string[]
}

export const databaseKinds = ['sqlite', 'postgres', 'mysql'] as const
export type DatabaseKind = (typeof databaseKinds)[number]
