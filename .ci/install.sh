# For other scripts: install WHAT with the system's packages, or print the line to type and fail.
# The caller sets apt, dnf, pacman, apk and brew to the names of the packages there.
# shellcheck shell=sh disable=SC2154

# install_line: what to type on this system; empty where we don't know.
install_line() {
	if command -v apt-get >/dev/null; then
		echo "apt-get install -y $apt"
	elif command -v dnf >/dev/null; then
		echo "dnf install -y $dnf"
	elif command -v pacman >/dev/null; then
		echo "pacman -S --noconfirm $pacman"
	elif command -v apk >/dev/null; then
		echo "apk add $apk"
	elif command -v brew >/dev/null || [ "$(uname)" = Darwin ]; then
		echo "brew install $brew"
	fi
}

# install_packages WHAT: 0 installed, 1 not, with the reason and the line to type on standard error.
install_packages() {
	line=$(install_line)
	if [ -z "$line" ]; then
		echo "$1 is missing, and this system's package manager is not known here: please install it." >&2
		return 1
	fi
	case $line in
	brew*) as= ;;
	*)
		as=
		if [ "$(id -u)" != 0 ]; then
			as=sudo
			if ! sudo -n true 2>/dev/null; then
				echo "$1 is missing; type: sudo $line" >&2
				return 1
			fi
		fi
		;;
	esac
	echo "$1 is missing; installing it: ${as:+$as }$line"
	# A machine that never installed anything has no list of packages yet.
	case $line in
	apt-get*) ${as:+sudo -n} env DEBIAN_FRONTEND=noninteractive apt-get update -q </dev/null >/dev/null || return 1 ;;
	esac
	# The words of the line are meant to be split.
	# shellcheck disable=SC2086
	if ! ${as:+sudo -n} env DEBIAN_FRONTEND=noninteractive $line </dev/null >/dev/null; then
		echo "$1 could not be installed; type: ${as:+$as }$line" >&2
		return 1
	fi
}
