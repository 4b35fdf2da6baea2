import { sqlMigrations } from 'framework'

/** In the order in which they run. Never change one that has run anywhere: add another one instead. */
export const steps = {
  '001-books':
    'create table books (id bigint generated always as identity primary key, title text not null unique, copies int not null check (copies >= 0))',
  '002-orders':
    'create table orders (id bigint generated always as identity primary key, book bigint not null references books (id))',
}

export const migrations = sqlMigrations(steps)
