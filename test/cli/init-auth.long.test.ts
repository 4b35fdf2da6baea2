// The same with MySQL.
import './init-auth.test.ts'
