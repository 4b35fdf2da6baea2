import { sqlMigrations } from 'framework'

/** In the order in which they run. Never change one that has run anywhere: add another one. */
export const migrations = sqlMigrations({
  '001-films':
    'create table films (id integer primary key, title text not null unique, seats integer not null check (seats >= 0))',
  '002-members': 'create table members (id integer primary key, mail text not null unique, password text not null)',
  '003-bookings':
    'create table bookings (id integer primary key, film integer not null references films (id), member integer not null references members (id))',
})
