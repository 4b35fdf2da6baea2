// The same with the tests of the projects for SQLite and MySQL.
import './init-auth.test.ts'
