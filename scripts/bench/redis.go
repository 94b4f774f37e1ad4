//go:build linux

package main

import (
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/dpl-project/dpl/testscripts/poll"
)

// findRedis starts a redis-server of our own, on a socket in the work directory, which calls fsync
// for each command before it answers.
func (b *bench) findRedis() error {
	server := b.find("redis", "redis-server")
	if server == "" {
		return nil
	}

	client := b.find("redis", "redis-cli")
	if client == "" {
		return nil
	}

	socket := filepath.Join(b.work, "redis")
	if len(socket) > 100 {
		b.leaveOut("redis", "the name of its socket would be too long: give a shorter -dir")
		return nil
	}

	var err error
	b.tools.redisServer, err = b.starter.start([]string{server, "--port", "0", "--unixsocket",
		socket, "--dir", b.work, "--daemonize", "no",
		"--appendonly", "yes", "--appendfsync", "always", "--save", "", "--auto-aof-rewrite-percentage", "0"})
	if err != nil {
		return err
	}

	if !poll.Within(patience, func() bool {
		_, err = b.prepare(client, "-s", socket, "-e", "PING")
		return err == nil
	}) {
		return fmt.Errorf("redis-server does not answer: %w", err)
	}

	b.tools.redis, b.tools.redisSocket = client, socket

	return nil
}

// Each script is one transaction. KEYS[1] is the operation; each frame is a hash, and the stack a
// list of calls.
const (
	luaNow   = "local t = redis.call('TIME'); local now = t[1] .. '.' .. t[2]; "
	luaFrame = "'participantId', 'worker', 'startTime', now, 'lastHeartbeat', now, 'state', " +
		"'active')"
	luaFill = luaNow + "for i = 0, ARGV[1] - 1 do redis.call('HSET', KEYS[1] .. ':call-' .. i, " +
		luaFrame +
		" redis.call('RPUSH', KEYS[1] .. ':stack', 'call-' .. i) end redis.call('HSET', KEYS[1], " +
		"'revision', 0)"
)

var luaOf = map[string]string{
	heartbeat: "redis.call('HSET', KEYS[1] .. ':call-1', 'lastHeartbeat', now)",
	push: "redis.call('HSET', KEYS[1] .. ':new', " + luaFrame +
		" redis.call('RPUSH', KEYS[1] .. ':stack', 'new')",
	pop: "redis.call('DEL', KEYS[1] .. ':new'); redis.call('RPOP', KEYS[1] .. ':stack')",
}

// redis is a script in the server for each edit, and a process of redis-cli that asks for it.
func (b *bench) redis(place string, frames int) (func(string) []string, error) {
	_, err := b.prepare(b.tools.redis, "-s", b.tools.redisSocket, "-e", "EVAL", luaFill, "1", place,
		strconv.Itoa(frames))
	return func(work string) []string {
		return []string{b.tools.redis, "-s", b.tools.redisSocket, "-e", "EVAL",
			luaNow + luaOf[work] + " redis.call('HINCRBY', KEYS[1], 'revision', 1)", "1", place}
	}, err
}

func (b *bench) redisRevision(place string) (int64, error) {
	out, err := b.prepare(b.tools.redis, "-s", b.tools.redisSocket, "-e", "HGET", place, "revision")
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(out, 10, 64)
}

// redisPool is a list of tasks that wait, and one of those that are claimed.
func (b *bench) redisPool(place string, waiting int) (*pool, error) {
	const task = `{"argv":["true"]}`
	redis := func(words ...string) []string {
		return append([]string{b.tools.redis, "-s", b.tools.redisSocket, "-e"}, words...)
	}
	claimed := place + "-claimed"
	claim := redis("RPOPLPUSH", place, claimed)
	settle := redis("LREM", claimed, "1", task)

	_, err := b.prepare(redis("EVAL",
		"for i = 1, ARGV[1] do redis.call('LPUSH', KEYS[1], ARGV[2]) end", "1", place,
		strconv.Itoa(waiting), task)...)
	return &pool{
		enqueue: func(int) []string { return redis("LPUSH", place, task) },
		take:    func(int) [][]string { return [][]string{claim, settle} },
		loop: "while t=$(" + shell(claim) + `) && [ "$t" ]; do true; ` + shell(settle) +
			" >/dev/null; done",
		check: func(left int) error {
			out, err := b.prepare(redis("EVAL", "return redis.call('LLEN', KEYS[1]) .. ' ' .. "+
				"redis.call('LLEN', KEYS[2])", "2", place, claimed)...)
			if want := fmt.Sprintf("%d 0", left); err == nil && out != want {
				err = fmt.Errorf("tasks that wait, and that are claimed: %s; want %s", out, want)
			}
			return err
		},
	}, err
}
